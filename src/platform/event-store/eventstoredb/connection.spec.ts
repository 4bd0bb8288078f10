import { UnavailableError } from '@eventstore/db-client';
import { describe, expect, it } from '@jest/globals';
import { freePort } from '../../../../sandbox/processes.js';
import { url } from '../../config/settings.js';
import { Connection, withDefaults } from './connection.js';

describe('the connection to EventStoreDB', () => {
  it.each([
    ['esdb://a:2113', 'esdb://a:2113?connectionName=disburse&nodePreference=leader&gossipTimeout=1'],
    [
      'esdb://a/?tls=false',
      'esdb://a?tls=false&connectionName=disburse&nodePreference=leader&gossipTimeout=1',
    ],
    [
      'esdb://a?nodepreference=follower&connectionName=x',
      'esdb://a?nodepreference=follower&connectionName=x&gossipTimeout=1',
    ],
  ])('adds the missing options to the address %s', (given, connected) => {
    expect(withDefaults(given)).toBe(connected);
  });

  it.each([
    'esdb://a:2113,b:2113,c:2113?tls=false',
    'esdb://ops:p%40ss@a,b,c',
    'esdb+discover://cluster.example',
  ])('accepts the address %s', (given) => {
    expect(url('esdb', 'esdb+discover')(given)).toBe(given);
    expect(new Connection(given).client.connectionName).toBe('disburse');
  });

  it('rejects the invalid address esdb://a:x,b', () => {
    expect(() => url('esdb')('esdb://a:x,b')).toThrow('a URL that begins with esdb://');
  });

  it('survives a search for the leader that finds no node', async () => {
    const nodes = `127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}`;
    const { client: opened } = new Connection(`esdb://${nodes}?tls=false&maxDiscoverAttempts=1`);
    const client = opened as unknown as {
      getChannel(): Promise<unknown>;
      handleError(client: unknown, error: Error): Promise<void>;
    };
    const search = client.getChannel();
    search.catch(() => undefined);
    await expect(client.handleError({ getChannel: () => null }, new UnavailableError())).resolves.toBe(
      undefined,
    );
    await expect(search).rejects.toThrow('Failed to discover');
  });
});
