// The reads of a command: through the signed API where keys are found, else through the session of disburse login.
import { Pages } from '@disburse/sdk';
import { clientOf, findKeys, requireKeys } from './credentials.mjs';
import { Portal } from './portal.mjs';
import { readSession } from './session-file.mjs';
import { Usage } from './usage.mjs';

const OR_LOGIN = '; or run disburse login where there are keys';

/** `{listPayouts(query), getPayout(id), resend(deliveryId)}`. */
export async function accessOf(options) {
  const keys = await findKeys(options);
  const session = keys === null ? readSession() : null;
  if (session !== null) return bySession(new Portal(session));
  const merchant = clientOf(keys ?? (await requireKeys(options, OR_LOGIN)));
  return {
    listPayouts: (query) => merchant.payouts.list(query),
    getPayout: async (id) => (await merchant.payouts.get(id)).data.payout,
    resend: async (id) => (await merchant.webhookDeliveries.resend(id)).data.webhook_delivery,
  };
}

function bySession(portal) {
  return {
    listPayouts: (query) => {
      if (query.external_id !== undefined)
        throw new Usage(
          '--external-id needs the keys of the merchant: a session of disburse login has no such filter.',
        );
      return new Pages(
        (page_cursor) => portal.get('payouts', { ...query, page_cursor }),
        ({ payouts }) => payouts,
      );
    },
    getPayout: async (id) => (await portal.get(`payouts/${encodeURIComponent(id)}`)).data.payout,
    resend: async (id) =>
      (await portal.post(`deliveries/${encodeURIComponent(id)}/resend`)).data.webhook_delivery,
  };
}

/** Runs `work` with a session of the portal. One that is created for it ends with it. */
export async function withPortal(options, scopes, work) {
  const keys = await findKeys(options);
  const session = keys === null ? readSession() : null;
  if (session !== null) return work(new Portal(session));
  const merchant = clientOf(keys ?? (await requireKeys(options, OR_LOGIN)));
  const { data } = await merchant.portalSessions.create({ scopes });
  const portal = await Portal.enter(data.url);
  try {
    return await work(portal);
  } finally {
    await portal.end().catch(() => undefined);
  }
}
