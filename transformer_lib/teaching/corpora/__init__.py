"""Made-up text to learn from, the same for each seed: film reviews, English sentences with their French translations."""
