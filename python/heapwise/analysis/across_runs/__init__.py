"""Several stored runs beside each other: differences, histories, machines."""
