import { readFile } from 'node:fs/promises';
import { Controller, Get, Inject, Module, Res, type DynamicModule } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { httpConfig, listenerUrl, type HttpConfig } from '../config/config.js';
import { ApiRoute } from './route.js';
import { signingGuide } from './signing-guide.js';

/** Serves the document that the build created for the mode of this process; a test may bring its own. */
@Module({})
export class OpenApiModule {
  static of(document?: () => Promise<object>): DynamicModule {
    const load = ({ mode }: HttpConfig) => document ?? (() => builtDocument(mode));
    return {
      module: OpenApiModule,
      controllers: [OpenApiController],
      providers: [{ provide: OPENAPI_DOCUMENT, inject: [httpConfig.KEY], useFactory: load }],
    };
  }
}

/** Nest injection token of what reads the document. */
const OPENAPI_DOCUMENT = Symbol('OPENAPI_DOCUMENT');

/** Where `scripts/openapi.mjs` writes, seen from the built file, and from its source. */
const PLACES = ['../../../openapi', '../../../dist/openapi'];

/** The document that the build created from the decorators. Throws when there is none. */
export async function builtDocument(mode: HttpConfig['mode']): Promise<object> {
  for (const place of PLACES) {
    const text = await readFile(new URL(`${place}/${mode}.json`, import.meta.url), 'utf8').catch(() => null);
    if (text !== null) return JSON.parse(text) as object;
  }
  throw new Error('dist/openapi is missing: npm run build makes it');
}

/** `/openapi.json`; the pages built from it are at `/docs`. */
@Controller()
class OpenApiController {
  private text: Promise<string> | null = null;

  constructor(
    @Inject(OPENAPI_DOCUMENT) private readonly load: () => Promise<object>,
    @Inject(httpConfig.KEY) private readonly config: HttpConfig,
  ) {}

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

  /** The addresses of the service are known here, not where it was built. */
  private async withServer(): Promise<string> {
    const { publicUrl, adminUrl, adminPort } = this.config;
    const url = publicUrl ?? '/';
    const servers = [{ url: adminUrl ?? listenerUrl('localhost', adminPort) }];
    const document = (await this.load()) as { readonly info: object; readonly paths?: object };
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
