"""What windows of one process can say."""

NOT_INDEPENDENT = (
    "Windows of one process depend on each other and share its start, its addresses and its "
    "moment. Their interval is of that one process. Only intervals over processes say whether an "
    "allocator is better."
)
