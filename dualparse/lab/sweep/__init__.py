"""Grids of runs. In: grid files. Out: one stored result a cell, made by jobs that run here or on a cluster.

grid.py       a grid file -> its cells
plan.py       cells and what is there already -> what is to be done, and which stages cells share
jobs.py       one piece of work: a shared stage, a cell, a test score; written for a process of its own
backends.py   many jobs at the same time: local processes, or a Ray cluster
run.py        a plan from beginning to end
board.py      how far a sweep is
"""
