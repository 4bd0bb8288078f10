import type { INestApplicationContext } from '@nestjs/common';
import { MerchantDirectory } from '../src/platform/http/merchant-directory.js';
import { step, type SandboxMerchant } from './announce.js';
import type { SecretsFile } from './secrets.js';

/** Registers a merchant through the command that the operator's CLI uses too. */
export type CreateMerchantWithKey = (
  name: string,
) => Promise<{ readonly merchantId: string; readonly secret: string }>;

/** Returns the two merchants of the last run, or new ones if the database lacks them. */
export function prepareMerchants(
  app: INestApplicationContext,
  secrets: SecretsFile,
  register: CreateMerchantWithKey,
): Promise<{ merchant: SandboxMerchant; second_merchant: SandboxMerchant }> {
  const directory = app.get(MerchantDirectory, { strict: false });
  const make = async (remembered: SandboxMerchant | null, name: string): Promise<SandboxMerchant> => {
    if (remembered !== null && (await isKnown(directory, remembered))) return remembered;
    const { merchantId, secret } = await register(name);
    return { api_key: merchantId, private_key: secret };
  };
  return step(
    'Merchants',
    async () => {
      const merchant = await make(secrets.current.merchant, 'Sandbox merchant');
      const second_merchant = await make(secrets.current.second_merchant, 'Second sandbox merchant');
      secrets.remember({ merchant, second_merchant });
      return { merchant, second_merchant };
    },
    () => 'two, with their keys',
  );
}

async function isKnown(
  directory: MerchantDirectory,
  { api_key, private_key }: SandboxMerchant,
): Promise<boolean> {
  const found = await directory.find(api_key);
  return found !== null && found.privateKeys.includes(private_key);
}
