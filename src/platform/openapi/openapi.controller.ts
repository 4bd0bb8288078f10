import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { DocsPage } from './docs-page.js';

/** Nest injection token of the assembled document, as JSON text. */
export const OPENAPI_TEXT = Symbol('OPENAPI_TEXT');

/** `/openapi.json`, and `/docs` to read it; everything comes from this server. */
@Controller()
export class OpenApiController {
  constructor(
    @Inject(OPENAPI_TEXT) private readonly text: string,
    @Inject(DocsPage) private readonly page: DocsPage,
  ) {}

  @Get('openapi.json')
  document(@Res() reply: FastifyReply): void {
    reply.header('content-type', 'application/json; charset=utf-8').send(this.text);
  }

  @Get('docs')
  index(@Res() reply: FastifyReply): void {
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', this.page.policy)
      .send(this.page.html);
  }

  @Get('docs/:file')
  async file(@Param('file') name: string, @Res() reply: FastifyReply): Promise<void> {
    const file = await this.page.file(name);
    if (file === null) throw DomainError.notFound('File');
    reply.header('content-type', file.type).header('cache-control', 'public, max-age=86400').send(file.bytes);
  }
}
