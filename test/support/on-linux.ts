import { test } from '@jest/globals';

/** A test that needs what Linux alone has, as `/proc` or all of 127.0.0.0/8. */
export const onLinux = process.platform === 'linux' ? test : test.skip;
