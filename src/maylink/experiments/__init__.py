"""The paper's experiments and today's, run as ``python -m maylink.experiments``.

* Exhibits, one table or figure a file (``exhibits`` lists them): ``table1`` to ``table4``,
  ``deviation``, ``patterns``, ``conventions``, ``reliability``, ``flipped``, ``heldout``,
  ``today``, ``annotators``.
* Commands of their own: ``penalty``, ``sources``, ``wrong_links``, ``demo``.
* How runs are made: ``protocols`` (links and methods), ``published_lcvqe`` and
  ``published_tvclust`` (as printed), ``cells`` (single runs), ``grid`` (those of Tables 1 to 3),
  ``runner``, ``scoring``, ``store``.
* How they are shown: ``averages``, ``paper_scores``, ``compare``, ``tables``, ``figures``,
  ``page``, ``report``.
"""
