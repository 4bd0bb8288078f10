import { BullModule } from '@nestjs/bullmq';
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { type StoreConfig, storeConfig } from '../config/config.js';
import { HealthRegistry } from '../telemetry/health.js';
import { reaching } from '../postgres/unavailable.js';
import { QueueBackend } from './queue-backend.js';
import { WorkItems } from './work-items.js';

@Global()
@Module({
  imports: [
    BullModule.forRootAsync({
      inject: [QueueBackend],
      useFactory: (backend: QueueBackend) => ({
        connection: backend.connection,
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      }),
    }),
  ],
  providers: [
    WorkItems,
    {
      provide: QueueBackend,
      inject: [storeConfig.KEY],
      useFactory: ({ roles, queueUrl, databaseUrl }: StoreConfig) => {
        // A process without a role is a program, which needs no queue.
        if (roles.length === 0 && databaseUrl !== null)
          return QueueBackend.connect(databaseUrl, { migrates: false });
        const url = queueUrl ?? databaseUrl;
        if (url === null) throw new Error('neither QUEUE_URL nor DATABASE_URL is set');
        const setting = queueUrl === null ? 'DATABASE_URL' : 'QUEUE_URL';
        return reaching('queue', setting, () => QueueBackend.connect(url));
      },
    },
  ],
  exports: [QueueBackend, WorkItems],
})
export class JobsModule implements OnModuleInit {
  constructor(
    private readonly health: HealthRegistry,
    private readonly backend: QueueBackend,
  ) {}

  onModuleInit(): void {
    this.health.register({ name: 'queue', check: async () => void (await this.backend.ping()) });
  }
}
