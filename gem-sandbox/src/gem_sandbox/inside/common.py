"""The modules that programs import most often. Imported once, before the first program, they cost a program nothing."""

# ruff: noqa: F401
# pyright: reportUnusedImport=false

import collections
import copy
import dataclasses
import datetime
import decimal
import fractions
import functools
import heapq
import itertools
import math
import operator
import queue
import random
import re
import statistics
import string
import time
import typing
