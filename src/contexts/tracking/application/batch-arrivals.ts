import { Injectable } from '@nestjs/common';

/** Tells, inside this process, that a batch of a merchant was committed; whoever needs certainty polls besides. */
@Injectable()
export class BatchArrivals {
  private readonly listeners: ((merchantId: string) => void)[] = [];

  /** `listener` is called in the course of a request: it must be quick and must not throw. */
  subscribe(listener: (merchantId: string) => void): void {
    this.listeners.push(listener);
  }

  announce(merchantId: string): void {
    for (const listener of this.listeners) listener(merchantId);
  }
}
