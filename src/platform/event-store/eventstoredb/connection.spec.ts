import { describe, expect, it } from '@jest/globals';
import { url } from '../../config/settings.js';
import { connect, withDefaults } from './connection.js';

describe('the connection to EventStoreDB', () => {
  it.each([
    ['esdb://a:2113', 'esdb://a:2113?connectionName=disburse&nodePreference=leader'],
    ['esdb://a/?tls=false', 'esdb://a?tls=false&connectionName=disburse&nodePreference=leader'],
    [
      'esdb://a?nodepreference=follower&connectionName=x',
      'esdb://a?nodepreference=follower&connectionName=x',
    ],
  ])('adds to %s what it does not say', (given, connected) => {
    expect(withDefaults(given)).toBe(connected);
  });

  it.each([
    'esdb://a:2113,b:2113,c:2113?tls=false',
    'esdb://ops:p%40ss@a,b,c',
    'esdb+discover://cluster.example',
  ])('takes %s', (given) => {
    expect(url('esdb', 'esdb+discover')(given)).toBe(given);
    expect(connect(given).connectionName).toBe('disburse');
  });

  it('refuses what is no address', () => {
    expect(() => url('esdb')('esdb://a:x,b')).toThrow('a URL that begins with esdb://');
  });
});
