import { Global, Module } from '@nestjs/common';
import { CONFIG } from '../config/config.js';
import { Database, databaseFromConfig } from './database.js';

/** The {@link Database}, for every module. */
@Global()
@Module({
  providers: [{ provide: Database, inject: [CONFIG], useFactory: databaseFromConfig }],
  exports: [Database],
})
export class DatabaseModule {}
