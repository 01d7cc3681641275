"""What starts jobs on machines and brings results back: local, over ssh, clusters."""
