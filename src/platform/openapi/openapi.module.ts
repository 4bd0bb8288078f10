import { Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { DocsPage } from './docs-page.js';
import { builtDocument, OPENAPI_DOCUMENT, OpenApiController } from './openapi.controller.js';

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
