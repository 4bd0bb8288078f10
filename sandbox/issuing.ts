import type { CommandBus } from '@nestjs/cqrs';
import {
  IssueCredential,
  plainOrder,
  type IssueParameters,
} from '../src/contexts/access/credentials/credentials.commands.js';
import { CreateMerchant } from '../src/contexts/access/merchants/merchants.commands.js';
import { KIND_RULES } from '../src/contexts/access/credentials/credential-kinds.js';
import { newId } from '../src/kernel/ids.js';

type Order = Pick<IssueParameters, 'kind'> & Partial<IssueParameters>;

/** Issues a credential by the command of operators, without an operation. */
export async function issueCredential(
  commands: CommandBus,
  order: Order,
): Promise<{ readonly id: string; readonly secret: string }> {
  const { credential_id: id, secret } = await commands.execute(
    new IssueCredential(newId(), plainOrder(order)),
  );
  return { id, secret: secret! };
}

/** Registers a merchant and issues its first private key. */
export async function createMerchant(commands: CommandBus, name: string) {
  const merchantId = newId();
  await commands.execute(new CreateMerchant(merchantId, { name }));
  const { secret } = await issueCredential(commands, { kind: 'payouts', merchant_id: merchantId });
  return { merchantId, secret };
}

/** Issues a key of the exchange API; `keyId` is the `api_key`. */
export async function issueExchangeKey(
  commands: CommandBus,
  merchantId: string,
  demandsSignature: boolean,
  given: Partial<IssueParameters> = {},
) {
  const order = { kind: 'exchange', merchant_id: merchantId, demands_signing: demandsSignature } as const;
  const { id, secret } = await issueCredential(commands, { ...order, ...given });
  return { keyId: KIND_RULES.exchange.deriveKeyId(id, '', null), secret, secretId: id };
}
