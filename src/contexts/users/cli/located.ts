import type { INestApplicationContext } from '@nestjs/common';
import { DomainError } from '../../../kernel/domain-error.js';
import type { Outcome } from '../../../platform/operator/operator.js';
import { ErasingWorker } from '../application/erasing/erasing-worker.js';
import { LocateUser, type Known } from '../application/locate-user.js';
import type { Act, ErasedUser, ExistingUser } from '../domain/user.js';
import { userJson } from '../views/user-json.js';

const HIDDEN = '  phone_number, email    shown with --personal';

/** What is shown of a user. */
export async function located(
  context: INestApplicationContext,
  known: Known,
  personal = false,
): Promise<Outcome> {
  const found = await context.get(LocateUser).by(known);
  if (found === null) throw DomainError.notFound('User');
  const json: Readonly<Record<string, string | null>> =
    found.accountState === 'erased'
      ? { ...erasedJson(found), still_to_drop: await leftOf(context, found.userId) }
      : existingJson(found, personal);
  const lines = Object.entries(json).map(([name, value]) => `  ${name.padEnd(21)}  ${value ?? 'none'}`);
  const hides = !personal && found.accountState !== 'erased';
  return { text: [...lines, ...(hides ? [HIDDEN] : [])].join('\n'), json };
}

/** What contexts have still to drop of an erased person, and why it was not done; null when nothing is left. */
export async function leftOf(context: INestApplicationContext, userId: string): Promise<string | null> {
  const left = await context.get(ErasingWorker).leftOf(userId);
  const texts = left.map(({ part, failures, cause }) =>
    cause === null ? part : `${part} (${failures} attempts: ${cause})`,
  );
  return texts.join(', ') || null;
}

function existingJson(found: ExistingUser, personal: boolean): Record<string, string | null> {
  const { phone_number, email, ...rest } = userJson(found);
  return {
    ...{ merchant_id: found.merchantId, ...rest },
    ...('deactivation' in found ? told('deactivation', found.deactivation) : {}),
    ...(personal ? { phone_number, email } : {}),
  };
}

function erasedJson(found: ErasedUser): Record<string, string | null> {
  return {
    ...{ merchant_id: found.merchantId, id: found.userId, external_id: found.externalId },
    ...{ created_at: found.createdAt, account_state: found.accountState },
    issuer_wallet_address: found.issuerWalletAddress,
    ...told('deactivation', found.deactivation),
    ...told('erasure', found.erasure),
  };
}

/** Since when, why, and who did it. */
function told(what: string, { at, reason, actor }: Act): Record<string, string | null> {
  return { [`${what}_at`]: at, [`${what}_reason`]: reason, [`${what}_actor`]: actor };
}
