import { Global, Module } from '@nestjs/common';
import { CONFIG, type Config } from '../config/config.js';
import { KeyedHash } from './keyed-hash.js';
import { PersonalKeys } from './personal-keys.js';
import { deriveKey, Sealer } from './sealer.js';

/** {@link Sealer} (the master key's), {@link KeyedHash} and {@link PersonalKeys}, for every module. */
@Global()
@Module({
  providers: [
    {
      provide: Sealer,
      inject: [CONFIG],
      useFactory: (config: Pick<Config, 'masterKey'>) => new Sealer(masterKey(config)),
    },
    {
      provide: KeyedHash,
      inject: [CONFIG],
      useFactory: (config: Pick<Config, 'masterKey'>) =>
        new KeyedHash(deriveKey(masterKey(config), 'keyed-hash')),
    },
    PersonalKeys,
  ],
  exports: [Sealer, KeyedHash, PersonalKeys],
})
export class SealingModule {}

function masterKey({ masterKey: hex }: Pick<Config, 'masterKey'>): Buffer {
  if (hex === null) throw new Error('MASTER_KEY is not set');
  return Buffer.from(hex, 'hex');
}
