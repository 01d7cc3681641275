"""Reports that others published, measured again."""
