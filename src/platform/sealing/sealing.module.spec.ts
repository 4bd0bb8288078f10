import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { HealthRegistry } from '../telemetry/health.js';
import type { KeyRing } from './key-ring.js';
import { freshReport } from '../../../test/support/fresh-report.js';
import { SealingModule } from './sealing.module.js';

describe('a process whose master key is retired', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('logs the retirement once when it reads the ring, and is not ready until the key is back', async () => {
    const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    let isRetired = false;
    const ring = {
      isLost: false,
      refresh: async () => {
        ring.isLost = isRetired;
      },
    };
    const health = new HealthRegistry();
    const sealing = new SealingModule(ring as unknown as KeyRing, health);
    sealing.onModuleInit();
    const refresh = async (): Promise<string | undefined> => {
      await sealing.refresh();
      return (await freshReport(() => health.report())).checks['master_key']?.status;
    };
    const ready = await refresh();
    expect(error).not.toHaveBeenCalled();
    isRetired = true;
    expect(await refresh()).not.toBe(ready);
    expect(await refresh()).not.toBe(ready);
    expect(error).toHaveBeenCalledTimes(1);
    expect(error.mock.calls[0]![0]).toContain('no longer uses the MASTER_KEY');
    isRetired = false;
    expect(await refresh()).toBe(ready);
    isRetired = true;
    await refresh();
    expect(error).toHaveBeenCalledTimes(2);
  });
});
