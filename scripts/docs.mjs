#!/usr/bin/env node
// npm run docs: builds the documentation site, which the service serves at /docs.
import { build, buildDocs, install } from './lib/installation.mjs';
import { complain, step } from './lib/terminal.mjs';

try {
  await install();
  await build();
  await step('Documents', () => buildDocs());
} catch (error) {
  complain(error);
}
