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

/** The documentation of the sandbox (ADR 183). Each request reads the folder, as a build may replace it. */
@Controller()
@Public()
export class DocsController {
  readonly folder: string = SITE;

  constructor(@Inject(processConfig.KEY) private readonly config: ProcessConfig) {}

  @Get(['/', 'docs'])
  index(@Res() reply: FastifyReply): void {
    this.requireSandbox();
    reply.redirect('/docs/', 302);
  }

  @Get('docs/*')
  file(@Param('*') path: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.requireSandbox();
    if (!existsSync(this.folder))
      throw new DomainError(
        'unavailable',
        'The documentation is not built yet: npm start and npm run docs build it',
      );
    const found = this.find(path);
    const name = found ?? (acceptsHtml(request) ? this.find('404.html') : null);
    if (name === null) throw DomainError.notFound('Page');
    const plain = readFileSync(join(this.folder, name));
    const cacheControl = name.startsWith('assets/') ? FOREVER : 'no-cache';
    const policy = name.endsWith('.html') ? toPolicy(plain.toString()) : undefined;
    reply.status(found === null ? 404 : 200);
    sendAsset(request, reply, createAsset(name, plain), cacheControl, policy);
  }

  private requireSandbox(): void {
    if (this.config.mode !== 'sandbox') throw DomainError.notFound('Page');
  }

  /** Finds the file for a path below `/docs/`, its `.html` file or its `index.html`; null if none exists. */
  private find(path: string): string | null {
    const names = new Set(readdirSync(this.folder, { recursive: true, encoding: 'utf8' }));
    const paths = [path, `${path}.html`, `${path}index.html`, `${path}/index.html`];
    return paths.find((each) => FILE.test(each) && names.has(each)) ?? null;
  }
}

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

  /** Returns the OpenAPI document with the URLs of the service, which are unknown at build time. */
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
