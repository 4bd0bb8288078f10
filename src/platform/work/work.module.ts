import { Global, Module } from '@nestjs/common';
import { WorkItems } from './work-items.js';

/** The table of due work, for every module. */
@Global()
@Module({ providers: [WorkItems], exports: [WorkItems] })
export class WorkModule {}
