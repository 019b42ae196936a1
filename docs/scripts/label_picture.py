"""Makes docs/_static/label.png: ``maylink label`` on simulated customers, after some answers.

``python docs/scripts/label_picture.py`` needs ``maylink[label,browser]`` and the program chromium.
The customers are records of sixty people, written down one to four times, with slips; the answers
are right.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

PICTURE = Path(__file__).parent.parent / "_static" / "label.png"
FIRST = "Anna Bjorn Carla David Elif Farid Greta Hugo Ines Jonas Karin Lars Maria Nils Olga Peter"
LAST = "Berg Hansen Novak Silva Keller Moreau Lind Costa Vogel Marsh"
TOWNS = "Oslo Bergen Tromso Porto Basel Lyon Graz Gent"
STREETS = "Harbour St|Mill Lane|Church Road|Station Road|Park Avenue|High Street"
NOTES = (
    "Prefers email. Asked about the spring catalogue and the delivery times for larger orders.",
    "Called twice about an invoice that was paid late; asked to be reminded a week before.",
    "Met at the trade fair, wants samples of the oak and the ash finish in two sizes.",
    "Returns nothing. Pays on the day. Asks for a printed invoice with every order.",
)
SLIPS = {"twice": "three times", "spring": "autumn", "samples": "a sample", "printed ": ""}
ANSWERS = 30


def customers(rng: np.random.Generator) -> pd.DataFrame:
    """Records of people, some of them of the same one."""
    rows = []
    for person in range(60):
        first, last = rng.choice(FIRST.split()), rng.choice(LAST.split())
        street = f"{rng.choice(STREETS.split('|'))} {rng.integers(1, 90)}"
        town, note = rng.choice(TOWNS.split()), str(rng.choice(NOTES))
        born, spent = rng.integers(1950, 2001), rng.gamma(3, 900)
        for _ in range(rng.integers(1, 5)):
            name = first if rng.random() < 0.6 else rng.choice([f"{first[0]}.", first[:-1]])
            family = last if rng.random() < 0.8 else last.replace("e", "ee", 1)
            words = note
            for right, wrong in SLIPS.items():
                words = words.replace(right, wrong) if rng.random() < 0.3 else words
            rows.append(
                {
                    "name": f"{name} {family}",
                    "town": town if rng.random() < 0.9 else "",
                    "street": street,
                    "born": born if rng.random() < 0.9 else "",
                    "spent": round(spent * (1 + 0.05 * rng.normal()), 2),
                    "note": words,
                    "truth": person,
                }
            )
    frame = pd.DataFrame(rows).sample(frac=1, random_state=0).reset_index(drop=True)
    frame.insert(0, "customer", [f"C{row:04d}" for row in range(len(frame))])
    return frame


def main() -> None:
    """Answer some questions in a browser, and take the picture."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        frame = customers(np.random.default_rng(3))
        frame.to_csv(Path(folder) / "customers.csv", index=False)
        truth = frame.set_index("customer")["truth"]
        words = ["label", "customers.csv", "--id", "customer", "--text", "name", "--text", "street"]
        words += ["--text", "town", "--out", "links.csv", "--no-browser", "--no-fit"]
        command = subprocess.Popen(
            [sys.executable, "-m", "maylink", *words], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        assert command.stdout is not None
        address = command.stdout.readline().strip()
        try:
            with sync_playwright() as started:
                program = shutil.which("chromium")
                browser = started.chromium.launch(executable_path=program, args=["--no-sandbox"])
                page = browser.new_page(
                    viewport={"width": 1280, "height": 800}, device_scale_factor=1.5
                )
                page.goto(address)
                page.wait_for_selector("#name-dialog[open]")
                page.keyboard.type("Ann")
                page.keyboard.press("Enter")
                for _ in range(ANSWERS):
                    page.wait_for_selector("#ask:not([hidden])")
                    a, b = page.locator("#pair h2 bdi").all_inner_texts()
                    page.keyboard.press("t" if truth[a] == truth[b] else "a")
                    page.wait_for_timeout(250)
                page.wait_for_selector("#thinking", state="hidden", timeout=120_000)
                page.wait_for_selector("#ask:not([hidden])")
                page.wait_for_timeout(1500)
                page.screenshot(path=PICTURE)
        finally:
            command.kill()


if __name__ == "__main__":
    main()
