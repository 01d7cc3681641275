"""The same plan on many machines: engines, the job of one machine, and what is collected.

One job is a whole plan on one machine, so that no comparison spans two of them. The engine (Dask)
starts jobs and brings results back. The state is in files: ``fleet.json`` of the client, and an
ordinary run folder on each machine.
"""
