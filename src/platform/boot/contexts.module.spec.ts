import { describe, expect, it } from '@jest/globals';
import { publishedBy } from '../../contexts/webhooks/deliveries/published-events.service.js';
import { ALL_CONTEXTS } from '../../composition.js';
import { defineContext, listEvents, publication, type Context } from '../context.js';
import { EventCodec } from '../event-store/event-codec.js';
import type { WebhookDescription } from '../openapi/document.js';
import type { SubscriptionDefinition } from '../projections/projection.js';
import { SubscriptionRegistry } from '../projections/subscription-registry.js';
import { checkBoot } from './contexts.module.js';

const birds = defineContext({ name: 'birds', events: ['bird.flew.v1'] });
const flights: SubscriptionDefinition = {
  name: 'birds.flights',
  events: ['bird.flew.v1'],
  apply: async () => undefined,
};

function boot(contexts: readonly Context[], subscriptions = [flights]): void {
  const events = new EventCodec();
  for (const context of contexts) events.register(listEvents(context), context.name);
  checkBoot(contexts, events, subscriptions, ['birds.flights']);
}

const published = (type: string): WebhookDescription => ({
  type,
  when: 'A bird was seen.',
  data: class Bird {},
});

describe('the boot', () => {
  it('accepts complete contexts', () => expect(() => boot([birds])).not.toThrow());

  it('refuses an event type that two contexts declare', () => {
    const bats = defineContext({ name: 'bats', events: ['bird.flew.v1'] });
    expect(() => boot([birds, bats])).toThrow('the event type bird.flew.v1 has two owners: birds and bats');
  });

  it('refuses an event type that no context declares', () => {
    const owner = 'an event type that no context declares';
    expect(() => boot([birds], [{ ...flights, events: ['bird.landed.v1'] }])).toThrow(
      `the subscription birds.flights reads bird.landed.v1, ${owner}`,
    );
    const upcast = { to: 'bird.flew.v2', with: () => ({}) };
    expect(() => boot([{ ...birds, upcasts: { 'bird.flew.v1': upcast } }])).toThrow(
      `birds upcasts to bird.flew.v2, ${owner}`,
    );
    const publishes = {
      'bird.landed.v1': publication(published('bird.landed'), () => ({ occurredAt: '', fields: {} })),
    };
    expect(() => boot([{ ...birds, publishes }])).toThrow(
      'birds publishes bird.landed.v1, an event type that it does not declare',
    );
  });

  it('refuses a subscription that is declared and never registered', () =>
    expect(() => boot([birds], [])).toThrow(
      'the subscription birds.flights is declared, but not in readModels nor by provideSaga',
    ));

  it('refuses a subscription that is registered twice', () =>
    expect(() => new SubscriptionRegistry().register(flights, flights)).toThrow(
      'the subscription birds.flights is registered twice',
    ));

  it('refuses a published type without a mapper, and a mapper whose type is not in the catalogue', () => {
    const without = ALL_CONTEXTS.map((each) => (each.name === 'payouts' ? { ...each, publishes: {} } : each));
    expect(() => publishedBy(without)).toThrow(
      'the published type payout.received has no mapper: no context publishes it',
    );
    const publishes = {
      'bird.flew.v1': publication(published('bird.flew'), () => ({ occurredAt: '', fields: {} })),
    };
    expect(() => publishedBy([...ALL_CONTEXTS, { ...birds, publishes }])).toThrow(
      'the published type bird.flew is not in the catalog of webhooks',
    );
  });
});
