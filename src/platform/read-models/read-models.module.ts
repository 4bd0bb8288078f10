import { Global, Module } from '@nestjs/common';
import { ReadModels } from './read-models.js';

/** {@link ReadModels}, for the views of every context. */
@Global()
@Module({ providers: [ReadModels], exports: [ReadModels] })
export class ReadModelsModule {}
