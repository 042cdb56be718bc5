"""Random programs, and the property that splitting leaves their results as they are."""
