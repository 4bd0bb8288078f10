import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readConfig } from '../../src/composition.js';
import { trackingConfig } from '../../src/contexts/tracking/tracking.config.js';
import { registry } from '../../src/platform/telemetry/metrics.js';
import {
  MAX_ITEMS,
  PAYLOAD_MAX_DEPTH,
  TEXT_MAX_LENGTH,
} from '../../src/contexts/tracking/batches/event-batch.js';
import { DEFAULT_PAGE } from '../../src/contexts/tracking/journey/journey.controller.js';
import { builtDocument } from '../../src/platform/http/docs.controller.js';

const guide = readFileSync(new URL('../../docs/inbound-events.md', import.meta.url), 'utf8');
const prose = guide.replaceAll(/\s+/g, ' ');
const config = readConfig({});

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, object>>;
}
const { paths, components } = (await builtDocument('production')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties: object }>> };
};
const post = paths['/merchants/v1/events']!['post']!;
const get = paths['/merchants/v1/users/{id}/events']!['get']!;
const { properties } = components.schemas['Event']!;

describe('docs/inbound-events.md', () => {
  it('has a row for every setting with its default', () => {
    const ours = Object.entries(trackingConfig.settings);
    expect(ours.length).toBeGreaterThan(5);
    for (const [key, { name }] of ours) {
      const value = (config as unknown as Readonly<Record<string, unknown>>)[key] ?? 'none';
      expect(guide).toContain(`| \`${name}\` | ${String(value)} |`);
    }
  });

  it('has a row for every field of an event and every response specific to POST /events', () => {
    for (const field of Object.keys(properties)) expect(guide).toContain(`| \`${field}\` |`);
    // Excludes the responses that all operations share.
    const own = Object.entries(post.responses).filter(([, response]) => !('$ref' in response));
    for (const [status] of own) expect(guide).toContain(`| ${status} |`);
  });

  it('names every metric of events and every parameter of GET /users/{id}/events', async () => {
    const metrics = (await registry.getMetricsAsJSON()).map(({ name }) => name);
    const ours = metrics.filter((name) => /^disburse_(event|analytics)/.test(name));
    expect(ours.length).toBeGreaterThan(8);
    for (const name of ours) expect(guide).toContain(name);
    for (const { name } of get.parameters!.filter((each) => each.name !== 'id'))
      expect(guide).toContain(`\`${name}\``);
  });

  it('states the limits that the service enforces', () => {
    expect(guide).toContain(`| events in a batch | 1 to ${MAX_ITEMS} |`);
    expect(guide).toContain(`| requests | ${config.rateLimitPerMinute} per minute`);
    expect(prose).toContain(`at most ${PAYLOAD_MAX_DEPTH} levels deep`);
    expect(prose).toContain(`1 to ${TEXT_MAX_LENGTH} characters`);
    expect(prose).toContain(`1 to 1000, default ${DEFAULT_PAGE}`);
  });
});
