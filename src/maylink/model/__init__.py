"""The formulas of the model: reliability, the exact joint, the mixture, the posterior."""
