import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type { Morning } from '../../../scripts/lib/morning.mjs';
import { PortalLinks } from '../../../src/contexts/access/application/portal-links.js';
import { createPortalSession, portalSession } from '../../../src/contexts/access/domain/portal-session.js';
import { newId } from '../../../src/kernel/ids.js';
import { CommandLoop } from '../../../src/platform/event-store/command-loop.js';
import { onTestBrowser, type TestBrowser } from '../http/browser.js';
import { createPortalSession as createdByBackend } from '../http/portal-browser.js';
import type { SignedClient } from '../http/signed-client.js';
import { eventItem } from '../tracking/event-batches.js';
import { HOME } from './console-page.js';
import { PageUser, STILL } from './page-user.js';
import { PagesService } from './pages-service.js';

const RESOURCES = ['keys', 'endpoints', 'deliveries', 'events', 'payouts', 'orders', 'requests', 'usage'];
export const ALL_SCOPES = RESOURCES.flatMap((each) => [`${each}:read`, `${each}:write`]);
/** What their users do, as events name them. */
export const CUSTOMER = 'customer-1';

/** A service whose merchant has a morning's data, and a browser. */
export interface PortalWorld {
  readonly service: PagesService;
  readonly browser: TestBrowser;
  readonly morning: Morning;
  /** The URL that the backend of a merchant gets for a person. */
  linkFor(body?: object, merchant?: SignedClient): Promise<string>;
  /** A link whose 15 minutes are over. */
  expiredLink(): Promise<string>;
  /** A browser without a session. */
  visit(): Promise<PageUser>;
  /** A browser that followed a link. */
  enter(body?: object, merchant?: SignedClient): Promise<PageUser>;
}

/** For the tests of a file. It has its members once the first `beforeAll` has run. */
export function onPortalWorld(): PortalWorld {
  const browser = onTestBrowser();
  const world = { browser } as { -readonly [Member in keyof PortalWorld]: PortalWorld[Member] };
  beforeAll(async () => {
    const service = await PagesService.start();
    const { app } = service;
    world.service = service;
    world.linkFor = async (body = {}, merchant = app.merchant) => {
      const actor = { id: 'u-17', name: 'Ada of the shop' };
      return (await createdByBackend(merchant, { scopes: ALL_SCOPES, actor, ...body })).url;
    };
    world.expiredLink = async () => {
      const [id, links] = [newId(), app.app.get(PortalLinks, { strict: false })];
      const code = links.secretFor(id);
      const at = new Date(Date.now() - 16 * 60_000).toISOString();
      const merchantId = app.merchant.credentials.apiKey;
      const session = { merchantId, actor: null, scopes: ['usage:read'], returnUrl: null };
      const created = { ...session, id, codeHash: links.hashOf('code', code), at };
      await app.app
        .get(CommandLoop, { strict: false })
        .execute(portalSession, id, (current) => createPortalSession(created, current), { metadata: {} });
      return links.entry(service.portalUrl, code);
    };
    world.visit = async () =>
      new PageUser(await browser.visit([service.portalUrl], STILL), service.portalUrl);
    world.enter = async (body, merchant) => {
      const user = await world.visit();
      await user.open(await world.linkFor(body, merchant), HOME);
      return user;
    };
    world.morning = await service.morning();
    const events = ['Product viewed', 'Checkout completed'].map((event_name) =>
      eventItem({ event_name, user_external_id: CUSTOMER, event_datetime: new Date().toISOString() }),
    );
    await app.merchant.post('/merchants/v1/events', { events }, randomUUID());
  });
  afterAll(() => world.service?.close());
  return world;
}
