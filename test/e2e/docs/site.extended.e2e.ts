import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { onTestApp } from '../../support/app.js';
import { send } from '../../support/http/signed-client.js';

const DIST = 'docs/.vitepress/dist';
const CREATE_USER = 'reference/createUser';
const HTML = { accept: 'text/html' };

const built = (extension: string): string[] =>
  (existsSync(DIST) ? readdirSync(DIST, { recursive: true, encoding: 'utf8' }) : []).filter((name) =>
    name.endsWith(extension),
  );
const textOf = (name: string): string => readFileSync(join(DIST, name), 'utf8');

beforeAll(() => {
  if (built('.html').length === 0) throw new Error('the site is not built: npm run docs');
});

/** Returns attributes of a document, unescaped like in a browser. */
const attributes = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, value]) => value!.replaceAll('&amp;', '&').replaceAll('&quot;', '"'));

describe('the documentation site', () => {
  const app = onTestApp();
  const get = (path: string, headers: Record<string, string> = {}) => send(`${app.url}${path}`, { headers });

  it('is at /docs, to which / redirects, and has each page as Markdown too', async () => {
    for (const start of ['/', '/docs']) {
      const index = await fetch(`${app.url}${start}`, { redirect: 'manual' });
      expect([start, index.status, index.headers.get('location')]).toEqual([start, 302, '/docs/']);
    }
    for (const path of [
      '',
      'quickstart',
      'reference/',
      'reference/createUser',
      'reference/webhooks/payout-received',
    ]) {
      const page = await get(`/docs/${path}`);
      expect([path, page.status, page.headers['content-type']]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
    }
    const markdown = await get(`/docs/${CREATE_USER}.md`);
    expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(markdown.text).toMatch(/^# Create a user\n/);
  });

  it('allows only its own inline scripts, by their hashes', async () => {
    const { headers, text } = await get('/docs/quickstart');
    const policy = headers['content-security-policy']!;
    expect(policy).toContain("default-src 'none'; script-src 'self' 'sha256-");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(/script-src[^;]*unsafe/.test(policy)).toBe(false);
    const [script] = attributes(text, /<script type="module" src="(\/docs\/assets\/app[^"]+)"/g);
    const asset = await get(script!);
    expect([asset.status, asset.headers['cache-control']]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
    expect(asset.headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  it.each(['nothing', 'assets', '../package.json', '%2e%2e/config.mjs', '.built-from', 'reference/%00'])(
    'responds with 404 to /docs/%s',
    async (path) => {
      const program = await get(`/docs/${path}`);
      expect([program.status, program.headers['content-type']]).toEqual([
        404,
        'application/problem+json; charset=utf-8',
      ]);
    },
  );

  it('responds with an HTML page if a browser requests a missing page', async () => {
    const person = await get('/docs/nothing', HTML);
    expect([person.status, person.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect((await fetch(`${app.url}/docs/quickstart`, { method: 'POST' })).status).toBe(405);
  });

  it('lists every page in llms.txt with a link to its Markdown form', async () => {
    const { text, headers } = await get('/docs/llms.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const linked = attributes(text, /\]\(\/docs\/([^)]+)\)/g);
    const pages = built('.html').filter((name) => name !== '404.html');
    expect(linked.toSorted()).toEqual(pages.map((name) => name.replace('.html', '.md')).toSorted());
    expect(linked.toSorted()).toEqual(built('.md').toSorted());
    expect(linked.length).toBeGreaterThan(150);
    expect(text).toContain('- [Quickstart](/docs/quickstart.md): In five minutes: a user, a payout');
    expect(text).toContain(`- [Create a user](/docs/${CREATE_USER}.md): POST /merchants/v1/users`);
  });
});

describe('in production the documentation site', () => {
  const app = onTestApp({ MODE: 'production', PUBLIC_URL: 'https://api.example.com' });

  it.each(['/docs', '/docs/', '/docs/quickstart', `/docs/${CREATE_USER}.md`, '/docs/llms.txt'])(
    'does not exist at %s',
    async (path) => {
      expect((await fetch(`${app.url}${path}`, { redirect: 'manual' })).status).toBe(404);
    },
  );
});

describe('pages', () => {
  const pages = new Map(built('.html').map((name) => [name, textOf(name)]));
  const anchors = new Map(
    [...pages].map(([name, html]) => [name, new Set(attributes(html, /\sid="([^"]*)"/g))]),
  );

  it('load everything from the service', () => {
    const loaded = [...pages.values()].flatMap((html) => [
      ...attributes(html, /<(?:script|img|iframe|source)[^>]*\ssrc="([^"]*)"/g),
      ...attributes(html, /<link[^>]*\shref="([^"]*)"/g),
    ]);
    expect(loaded.length).toBeGreaterThan(1000);
    expect([
      ...new Set(loaded.filter((each) => !each.startsWith('/docs/') && !each.startsWith('data:'))),
    ]).toEqual([]);
    const missing = loaded.filter(
      (each) => each.startsWith('/docs/') && !existsSync(join(DIST, each.slice(6))),
    );
    expect([...new Set(missing)]).toEqual([]);
  });

  it('link only to pages and headings that exist', () => {
    const dead = [...pages].flatMap(([name, html]) =>
      attributes(html, /<a[^>]*\shref="([^"]*)"/g)
        .filter((target) => !/^https?:|^mailto:/.test(target) && !leads(name, target))
        .map((target) => `${name}: ${target}`),
    );
    expect([...new Set(dead)]).toEqual([]);
  });

  it('link in their Markdown form only to Markdown that exists', () => {
    const dead = built('.md').flatMap((name) =>
      attributes(textOf(name).replaceAll(/^```.*?^```/gms, ''), /\]\((?![a-z]+:|#)([^)\s#]+)/g)
        .filter((target) => !existsSync(join(DIST, posix.dirname(name), target)))
        .map((target) => `${name}: ${target}`),
    );
    expect(dead).toEqual([]);
  });

  /** Returns whether a link leads to a page of the site and its heading, or to the document. */
  function leads(from: string, target: string): boolean {
    const { pathname, hash } = new URL(target, `https://site/docs/${from}`);
    if (pathname === '/openapi.json') return true;
    if (!pathname.startsWith('/docs/')) return false;
    const path = decodeURIComponent(pathname.slice('/docs/'.length));
    const page = [path, `${path}.html`, `${path}index.html`].find((each) => anchors.has(each));
    if (page === undefined) return existsSync(join(DIST, path)) && path.includes('.');
    return hash === '' || anchors.get(page)!.has(decodeURIComponent(hash.slice(1)));
  }
});
