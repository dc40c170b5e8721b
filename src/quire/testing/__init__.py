"""Fakes that ship with the library: the ports without models, servers or disks."""
