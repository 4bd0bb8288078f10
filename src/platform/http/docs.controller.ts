import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { processConfig, type ProcessConfig } from '../config/config.js';
import { DocsSite } from './docs-site.js';
import { sendAsset } from './pages/assets.js';
import { acceptsHtml } from './pages/document.js';

/** While `npm start` builds the site, and where it was never built. */
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

/** The documentation site (docs/adr/0183). It has the runbooks of operators and the calls of the sandbox: no part of production. */
@Controller()
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

  /** A page for people; a problem document for programs. */
  private sendNotFound(request: FastifyRequest, reply: FastifyReply): void {
    const page = acceptsHtml(request) ? this.site.find('404.html') : null;
    if (page === null) throw DomainError.notFound('Page');
    sendAsset(request, reply.status(404), page.asset, page.cacheControl, page.policy);
  }
}
