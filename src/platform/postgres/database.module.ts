import { Global, Module, type DynamicModule } from '@nestjs/common';
import { type StoreConfig, storeConfig } from '../config/config.js';
import { ClockCheck } from './clock-check.js';
import { Database, databaseFromConfig } from './database.js';
import type { Migration } from './migrate.js';

@Global()
@Module({})
export class DatabaseModule {
  static forRoot(migrations: readonly Migration[]): DynamicModule {
    const useFactory = (config: StoreConfig): Promise<Database> => databaseFromConfig(config, migrations);
    return {
      module: DatabaseModule,
      providers: [{ provide: Database, inject: [storeConfig.KEY], useFactory }, ClockCheck],
      exports: [Database, ClockCheck],
    };
  }
}
