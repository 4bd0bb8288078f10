/** One bit per item of a batch, the first in the highest bit of the first byte, as `tracking.batches` keeps them. */
export class ItemsBitmap {
  private constructor(readonly bytes: Buffer) {}

  static none(items: number): ItemsBitmap {
    return new ItemsBitmap(Buffer.alloc(Math.ceil(items / 8)));
  }

  /** A copy of what the table has; null there means none. */
  static read(bytes: Buffer | null, items: number): ItemsBitmap {
    const bitmap = ItemsBitmap.none(items);
    bytes?.copy(bitmap.bytes);
    return bitmap;
  }

  has(item: number): boolean {
    return ((this.bytes[item >> 3] ?? 0) & (0x80 >> (item & 7))) !== 0;
  }

  add(item: number): void {
    this.bytes[item >> 3]! |= 0x80 >> (item & 7);
  }

  delete(item: number): void {
    this.bytes[item >> 3]! &= ~(0x80 >> (item & 7));
  }
}
