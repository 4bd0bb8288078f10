import type { INestApplicationContext } from '@nestjs/common';
import { ExchangeKeyDirectory } from '../src/contexts/access/credentials/credential-directory.service.js';
import { step, type SandboxExchange } from './announce.js';
import type { SecretsFile } from './secrets.js';

/** Issues a key of the exchange through the command that the operator's CLI uses too. */
export type IssueExchangeKey = (
  merchantId: string,
  demandsSignature: boolean,
) => Promise<{ readonly keyId: string; readonly secret: string }>;

/** Returns the two exchange keys of the last run, or new ones if the database lacks them. */
export function prepareExchangeKeys(
  app: INestApplicationContext,
  secrets: SecretsFile,
  merchantId: string,
  issue: IssueExchangeKey,
): Promise<SandboxExchange> {
  const directory = app.get(ExchangeKeyDirectory, { strict: false });
  const remembered = secrets.current.exchange;
  const key = async (
    apiKey: string | undefined,
    secret: string | undefined,
    demandsSignature: boolean,
  ): Promise<{ keyId: string; secret: string }> => {
    const found = apiKey === undefined ? null : await directory.find(apiKey);
    const isSame = found?.merchantId === merchantId && found.secrets.includes(secret ?? '');
    return isSame ? { keyId: found.keyId, secret: secret! } : issue(merchantId, demandsSignature);
  };
  return step(
    'Exchange keys',
    async () => {
      const [signing, open] = await Promise.all([
        key(remembered?.api_key, remembered?.secret, true),
        key(remembered?.open_api_key, remembered?.open_secret, false),
      ]);
      const exchange: SandboxExchange = {
        api_key: signing.keyId,
        secret: signing.secret,
        open_api_key: open.keyId,
        open_secret: open.secret,
      };
      secrets.remember({ exchange });
      return exchange;
    },
    () => 'one that signs, and one that need not',
  );
}
