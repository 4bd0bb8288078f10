import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeResponses } from './responses.conformance.js';
import { describeAppending } from './appending.conformance.js';
import { describeConcurrency } from './concurrency.conformance.js';
import { describeReading } from './reading.conformance.js';
import type { EventStore } from '../../src/platform/event-store/port.js';

/** How the suite opens the store under test. */
export interface StoreUnderTest {
  /** Another instance over the same events, as another process would have it. */
  open(): Promise<EventStore>;
  /** Called when all instances are closed. */
  cleanUp(): Promise<void>;
}

/**
 * What every event store does. Runs against each adapter; streams have fresh names, so that
 * a store with a past will do.
 */
export function describeEventStore(name: string, prepare: () => Promise<StoreUnderTest>): void {
  describe(`${name} as an event store`, () => {
    const instances: EventStore[] = [];
    let under: StoreUnderTest;

    const open = async (): Promise<EventStore> => {
      const instance = await under.open();
      instances.push(instance);
      return instance;
    };
    const subject = (): { store: EventStore; open: typeof open } => ({ store: instances[0]!, open });

    beforeAll(async () => {
      under = await prepare();
      await open();
    });

    afterAll(async () => {
      await Promise.all(instances.map((instance) => instance.close()));
      await under.cleanUp();
    });

    describeAppending(subject);
    describeConcurrency(subject);
    describeReading(subject);
    describeResponses(subject);
  });
}
