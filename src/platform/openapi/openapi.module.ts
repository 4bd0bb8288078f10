import { readFile } from 'node:fs/promises';
import { Controller, Get, Inject, Module, Param, Res, type DynamicModule } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../kernel/domain-error.js';
import { CONFIG, type Config } from '../config/config.js';
import { DocsPage } from './docs-page.js';
import { signingGuide } from './guide.js';
import { Operation } from './operation.js';

/** Serves the document that the build created for the mode of this process; a test may bring its own. */
@Module({})
export class OpenApiModule {
  static of(document?: () => Promise<object>): DynamicModule {
    const load = ({ mode }: Config) => document ?? (() => builtDocument(mode));
    return {
      module: OpenApiModule,
      controllers: [OpenApiController],
      providers: [DocsPage, { provide: OPENAPI_DOCUMENT, inject: [CONFIG], useFactory: load }],
    };
  }
}

/** Nest injection token of what reads the document. */
export const OPENAPI_DOCUMENT = Symbol('OPENAPI_DOCUMENT');

/** Where `scripts/openapi.mjs` writes, seen from the built file, and from its source. */
const PLACES = ['../../../openapi', '../../../dist/openapi'];

/** The document that the build created from the decorators. Throws when there is none. */
export async function builtDocument(mode: Config['mode']): Promise<object> {
  for (const place of PLACES) {
    const text = await readFile(new URL(`${place}/${mode}.json`, import.meta.url), 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as object;
  }
  throw new Error('dist/openapi is missing: npm run build makes it');
}

/** `/openapi.json`, and `/docs` to read it; everything comes from this server. */
@Controller()
export class OpenApiController {
  private text: Promise<string> | null = null;

  constructor(
    @Inject(OPENAPI_DOCUMENT) private readonly load: () => Promise<object>,
    @Inject(CONFIG) private readonly config: Pick<Config, 'publicUrl'>,
    @Inject(DocsPage) private readonly page: DocsPage,
  ) {}

  @Get('openapi.json')
  @Operation({
    id: 'openapi',
    tag: 'Documentation',
    summary: 'This document',
    responses: { 200: [Object, 'An OpenAPI 3.1 document.'] },
  })
  async document(@Res() reply: FastifyReply): Promise<void> {
    const text = await (this.text ??= this.withServer());
    reply.header('content-type', 'application/json; charset=utf-8').send(text);
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

  /** The address of the service is known here, not where it was built. */
  private async withServer(): Promise<string> {
    const url = this.config.publicUrl ?? '/';
    const document = (await this.load()) as { readonly info: object };
    return JSON.stringify({
      ...document,
      info: { ...document.info, description: signingGuide(url) },
      servers: [{ url }],
    });
  }
}
