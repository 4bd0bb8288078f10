import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import {
  httpConfig,
  listenerUrl,
  processConfig,
  type HttpConfig,
  type ProcessConfig,
} from '../config/config.js';
import { ApiRoute } from '../openapi/route.js';
import { ROOT } from '../version.js';
import { signingGuide } from '../openapi/signing-guide.js';
import { Public } from './api.guard.js';
import { createAsset, FOREVER, sendAsset } from './pages/assets.js';
import { acceptsHtml } from './pages/document.js';

/** The output folder of `npm run docs`. */
const SITE = fileURLToPath(new URL('docs/.vitepress/dist', ROOT));

const FILE = /[^/.]\.[a-z0-9]+$/;

/** Returns a Content-Security-Policy for this server's files, with the hashes of inline scripts. */
function toPolicy(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(inline)].join(' '),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The built site of docs/. It is read for each request, because the sandbox builds it while it serves. */
export class DocsSite {
  constructor(private readonly folder = SITE) {}

  isBuilt(): boolean {
    return existsSync(this.folder);
  }

  /** Finds a file below `/docs/`, the page of that name, or the index of that folder. */
  find(path: string): ReturnType<typeof openFile> | null {
    if (!this.isBuilt()) return null;
    const names = new Set(readdirSync(this.folder, { recursive: true, encoding: 'utf8' }));
    const name = [path, `${path}.html`, `${path}index.html`, `${path}/index.html`].find(
      (each) => FILE.test(each) && names.has(each),
    );
    return name === undefined ? null : openFile(this.folder, name);
  }
}

function openFile(folder: string, name: string) {
  const plain = readFileSync(join(folder, name));
  const cacheControl = name.startsWith('assets/') ? FOREVER : 'no-cache';
  const policy = name.endsWith('.html') ? toPolicy(plain.toString()) : undefined;
  return { asset: createAsset(name, plain), cacheControl, policy };
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="5">
<title>disburse</title>
<h1>The documentation is not built yet</h1>
<p><code>npm start</code> builds it in the background, <code>npm run docs</code> at once. This page opens it when it is there.
The OpenAPI document is at <a href="/openapi.json">/openapi.json</a>.</p>
</html>
`;

/** The documentation site of the sandbox (ADR 183). Production does not serve it. */
@Controller()
@Public()
export class DocsController {
  constructor(
    private readonly site: DocsSite,
    @Inject(processConfig.KEY) private readonly config: ProcessConfig,
  ) {}

  @Get(['/', 'docs'])
  index(@Res() reply: FastifyReply): void {
    this.requireSandbox();
    reply.redirect('/docs/', 302);
  }

  @Get('docs/*')
  file(@Param('*') path: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.requireSandbox();
    const found = this.site.find(path);
    if (found !== null) {
      sendAsset(request, reply, found.asset, found.cacheControl, found.policy);
    } else if (!this.site.isBuilt()) {
      const policy = "default-src 'none'; frame-ancestors 'none'";
      reply.status(503).headers({ 'retry-after': '5', 'content-security-policy': policy });
      reply.type('text/html; charset=utf-8').send(NOT_BUILT);
    } else this.sendNotFound(request, reply);
  }

  private requireSandbox(): void {
    if (this.config.mode !== 'sandbox') throw DomainError.notFound('Page');
  }

  /** Sends a page to a browser, a problem to a program. */
  private sendNotFound(request: FastifyRequest, reply: FastifyReply): void {
    const page = acceptsHtml(request) ? this.site.find('404.html') : null;
    if (page === null) throw DomainError.notFound('Page');
    sendAsset(request, reply.status(404), page.asset, page.cacheControl, page.policy);
  }
}

/** Reads the OpenAPI document of the build. Throws without one. */
export async function builtDocument(mode: ProcessConfig['mode']): Promise<object> {
  const file = new URL(`dist/openapi/${mode}.json`, ROOT);
  if (!existsSync(file)) throw new Error('dist/openapi is missing: npm run build creates it');
  return JSON.parse(await readFile(file, 'utf8')) as object;
}

@Controller()
@Public()
export class OpenApiController {
  private text: Promise<string> | null = null;

  constructor(@Inject(httpConfig.KEY) private readonly config: HttpConfig) {}

  @Get('openapi.json')
  @ApiRoute({
    id: 'openapi',
    tag: 'Documentation',
    summary: 'This document',
    responses: { 200: [Object, 'An OpenAPI 3.1 document.'], 503: 'The service is busy.' },
  })
  async document(@Res() reply: FastifyReply): Promise<void> {
    const text = await (this.text ??= this.withServer());
    reply.header('content-type', 'application/json; charset=utf-8').send(text);
  }

  /** Adds the URLs of the service, which are unknown at build time. */
  private async withServer(): Promise<string> {
    const { mode, publicUrl, adminUrl, adminPort } = this.config;
    const url = publicUrl ?? '/';
    const servers = [{ url: adminUrl ?? listenerUrl('localhost', adminPort) }];
    const document = (await builtDocument(mode)) as { readonly info: object; readonly paths?: object };
    const paths = Object.entries<object>({ ...document.paths }).map(([path, operations]) => [
      path,
      path.startsWith('/admin/v1/')
        ? Object.fromEntries(
            Object.entries(operations).map(([method, each]) => [method, { ...each, servers }]),
          )
        : operations,
    ]);
    return JSON.stringify({
      ...document,
      info: { ...document.info, description: signingGuide(url) },
      servers: [{ url }],
      paths: Object.fromEntries(paths) as object,
    });
  }
}
