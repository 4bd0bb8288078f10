import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../../../test/support/in-memory-event-store.js';
import { EventFeed } from './event-feed.js';

it('an event feed ends if it is stopped while it still reads the head of the log', async () => {
  const store = new InMemoryEventStore();
  let respond: (head: string | null) => void = () => undefined;
  store.head = () => new Promise((resolve) => (respond = resolve));
  const feed = new EventFeed(store);
  feed.start();
  const stopped = feed.stop().then(() => 'stopped');
  respond(null);
  expect(await stopped).toBe('stopped');
});
