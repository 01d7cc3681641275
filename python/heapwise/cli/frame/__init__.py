"""What all verbs share: the frame they hang in, the options with the same meaning everywhere."""
