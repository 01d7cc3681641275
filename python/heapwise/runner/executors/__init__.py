"""What executes one step of a campaign, for each kind of subject."""
