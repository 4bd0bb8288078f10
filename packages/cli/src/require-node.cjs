// Runs before everything else (node -r, or the first import). Its syntax is old: every Node can read it.
/* global exports */
'use strict';

var NEEDED = [20, 19];

exports.requireNode = function () {
  var version = process.versions.node.split('.').map(Number);
  if (version[0] > NEEDED[0] || (version[0] === NEEDED[0] && version[1] >= NEEDED[1])) return;
  var sentence =
    'disburse needs Node ' + NEEDED.join('.') + ' or later; this is ' + process.versions.node + '.';
  process.stderr.write('\n  ✗ ' + sentence + '\n\n');
  // EX_CONFIG of sysexits.h.
  process.exit(78);
};

exports.requireNode();
