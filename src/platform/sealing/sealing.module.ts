import { Global, Logger, Module, Optional, type OnModuleInit } from '@nestjs/common';
import { Periodic } from '../jobs/background-work.js';
import { type SealingConfig, sealingConfig } from '../config/config.js';
import { Database } from '../postgres/database.js';
import { HealthRegistry } from '../telemetry/health.js';
import { KeyRing, toMasterKeys } from './key-ring.js';
import { KeyRotation } from './key-rotation.js';
import { KeyedHash } from './keyed-hash.js';
import { PersonalKeys } from './personal-keys.js';
import { Resealing } from './resealing.js';
import { deriveKey, Sealer } from './sealer.js';

/** The interval at which a process reads new keys, well below FRESH_AFTER_SECONDS. */
const REFRESH_MS = 5000;

@Global()
@Module({
  providers: [
    {
      provide: KeyRing,
      inject: [Database, sealingConfig.KEY],
      useFactory: async (database: Database, config: SealingConfig) => {
        try {
          return await KeyRing.open(database, toMasterKeys(config));
        } catch (error) {
          // Nest closes nothing after a failed boot, and a program would wait for the idle connections.
          await database.close();
          throw error;
        }
      },
    },
    KeyRotation,
    { provide: Sealer, inject: [KeyRing], useFactory: (ring: KeyRing) => ring.sealer },
    {
      provide: KeyedHash,
      inject: [KeyRing],
      useFactory: (ring: KeyRing) => new KeyedHash(deriveKey(ring.root, 'keyed-hash')),
    },
    PersonalKeys,
    Resealing,
  ],
  exports: [KeyRing, KeyRotation, Sealer, KeyedHash, PersonalKeys],
})
export class SealingModule implements OnModuleInit {
  private readonly logger = new Logger(SealingModule.name);

  constructor(
    private readonly ring: KeyRing,
    @Optional() private readonly health?: HealthRegistry,
  ) {}

  onModuleInit(): void {
    this.health?.register({
      name: 'master_key',
      check: async () => {
        if (this.ring.isLost) throw new Error('the key ring has no copies for MASTER_KEY');
      },
    });
  }

  @Periodic({ name: 'reading of the key ring', everyMs: REFRESH_MS, role: 'any' })
  async refresh(): Promise<void> {
    const wasLost = this.ring.isLost;
    await this.ring.refresh();
    if (this.ring.isLost && !wasLost) {
      this.logger.error(
        'The database no longer uses the MASTER_KEY of this process: start it with the present one (docs/keys.md)',
      );
    }
  }
}
