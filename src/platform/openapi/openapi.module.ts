import { Module, type DynamicModule } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { DocsPage } from './docs-page.js';
import { assembleDocument } from './document.js';
import type { OpenApiFragment } from './fragment.js';
import { OPENAPI_TEXT, OpenApiController } from './openapi.controller.js';
import { platformApi } from './platform-api.js';

/** Serves the document made of the fragments that the contexts export. */
@Module({})
export class OpenApiModule {
  static of(fragments: readonly OpenApiFragment[]): DynamicModule {
    return {
      module: OpenApiModule,
      controllers: [OpenApiController],
      providers: [
        DocsPage,
        {
          provide: OPENAPI_TEXT,
          inject: [CONFIG],
          useFactory: (config: Config) =>
            JSON.stringify(assembleDocument([...fragments, platformApi], config.publicUrl ?? '/')),
        },
      ],
    };
  }
}
