import 'reflect-metadata';
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { fastify } from 'fastify';
import { specFolder } from '../../../test/support/run-folder.js';
import { DocsController } from './docs.controller.js';
import { processConfig } from '../config/config.js';

const SCRIPT = 'document.documentElement.id = "x"';
const HASH = createHash('sha256').update(SCRIPT).digest('base64');

describe('the documentation at /docs', () => {
  it('is refused before the site is built, and afterwards always comes from the latest build', async () => {
    const folder = join(specFolder('docs-site'), 'dist');
    const controller = Object.assign(new DocsController(processConfig({})), { folder });
    const app = fastify();
    app.get('/docs/*', (request, reply) => {
      controller.file((request.params as { '*': string })['*'], request, reply);
    });
    const get = (path: string) => app.inject(path);
    const build = (heading: string): void => {
      mkdirSync(`${folder}.next/assets`, { recursive: true });
      const scripts = `<script>${SCRIPT}</script><script type="module" src="/docs/assets/a.js"></script>`;
      writeFileSync(`${folder}.next/page.html`, `<html lang="en">${scripts}<h1>${heading}</h1></html>`);
      writeFileSync(`${folder}.next/assets/a.js`, heading);
      rmSync(folder, { recursive: true, force: true });
      renameSync(`${folder}.next`, folder);
    };

    expect((await get('/docs/page')).body).toContain('The documentation is not built yet');

    build('First');
    const page = await get('/docs/page');
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('First')]);
    expect(page.headers['content-security-policy']).toContain(`script-src 'self' 'sha256-${HASH}';`);

    build('Second');
    expect((await get('/docs/page')).body).toContain('Second');
    expect((await get('/docs/assets/a.js')).body).toBe('Second');
    await app.close();
  });
});
