import { BullModule } from '@nestjs/bullmq';
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { type StoreConfig, storeConfig } from '../config/config.js';
import { HealthRegistry } from '../telemetry/health.js';
import { reaching } from '../postgres/unavailable.js';
import { QueueBackend } from './queue-backend.js';

/** The {@link QueueBackend} of the process: QUEUE_URL, or the database. A process without a role needs neither. */
@Global()
@Module({
  providers: [
    {
      provide: QueueBackend,
      inject: [storeConfig.KEY],
      useFactory: ({ roles, queueUrl, databaseUrl }: StoreConfig) => {
        if (roles.length === 0 && databaseUrl !== null) return QueueBackend.unused(databaseUrl);
        const url = queueUrl ?? databaseUrl;
        if (url === null) throw new Error('neither QUEUE_URL nor DATABASE_URL is set');
        const setting = queueUrl === null ? 'DATABASE_URL' : 'QUEUE_URL';
        return reaching('queue', setting, () => QueueBackend.connect(url));
      },
    },
  ],
  exports: [QueueBackend],
})
class QueueBackendModule {}

/** BullMQ for every module: `BullModule.registerQueue({ name })` and `@Processor(name)` work from here on. */
@Module({
  imports: [
    QueueBackendModule,
    BullModule.forRootAsync({
      inject: [QueueBackend],
      useFactory: (backend: QueueBackend) => ({
        connection: backend.connection,
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      }),
    }),
  ],
})
export class QueueModule implements OnModuleInit {
  constructor(
    private readonly health: HealthRegistry,
    private readonly backend: QueueBackend,
  ) {}

  onModuleInit(): void {
    this.health.register({ name: 'queue', check: async () => void (await this.backend.ping()) });
  }
}
