"""The modules that programs import most often, imported once before the first program, so that they cost nothing."""

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
