#!/usr/bin/env node
// npm run docs: builds the documentation site, which the service serves at /docs.
import { build, buildDocs, install, requireNode } from './lib/installation.mjs';
import { complain } from './lib/terminal.mjs';

try {
  requireNode();
  await install();
  await build();
  await buildDocs();
} catch (error) {
  complain(error);
}
