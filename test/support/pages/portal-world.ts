import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import type { Morning } from '../../../scripts/lib/morning.mjs';
import { onTestBrowser } from '../http/browser.js';
import { createPortalSession } from '../http/portal-browser.js';
import type { SignedClient } from '../http/signed-client.js';
import { eventItem } from '../tracking/event-batches.js';
import { HOME } from './console-page.js';
import { PageUser, STILL } from './page-user.js';
import { PagesService } from './pages-service.js';

const RESOURCES = ['keys', 'endpoints', 'deliveries', 'events', 'payouts', 'orders', 'requests', 'usage'];
const ALL_SCOPES = RESOURCES.flatMap((each) => [`${each}:read`, `${each}:write`]);
/** The user of the events. */
export const CUSTOMER = 'customer-1';

/** A service whose merchant has a morning's data, and a browser. */
export interface PortalWorld {
  readonly service: PagesService;
  readonly morning: Morning;
  /** Creates the URL that a merchant's backend gets for a person. */
  linkFor(body?: object, merchant?: SignedClient): Promise<string>;
  visit(): Promise<PageUser>;
  /** Follows a link in a browser. */
  enter(body?: object, merchant?: SignedClient): Promise<PageUser>;
}

/** A world for the tests of a file. It has its members once the first `beforeAll` has run. */
export function onPortalWorld(): PortalWorld {
  const browser = onTestBrowser();
  const world = {} as { -readonly [Member in keyof PortalWorld]: PortalWorld[Member] };
  beforeAll(async () => {
    const service = await PagesService.start();
    const { app } = service;
    world.service = service;
    world.linkFor = async (body = {}, merchant = app.merchant) => {
      const actor = { id: 'u-17', name: 'Ada of the shop' };
      return (await createPortalSession(merchant, { scopes: ALL_SCOPES, actor, ...body })).url;
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
