// Writes the OpenAPI document of each mode, dist/openapi/MODE.json, from the decorators of the built service.
import 'reflect-metadata';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SandboxModule } from '../dist/sandbox/sandbox.module.js';
import { serviceDocument } from '../dist/src/openapi.js';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist', 'openapi');
mkdirSync(folder, { recursive: true });
for (const [mode, modules] of [
  ['sandbox', [SandboxModule]],
  ['production', []],
])
  writeFileSync(join(folder, `${mode}.json`), JSON.stringify(await serviceDocument(mode, modules)));
process.exit(0);
