/** Files and folders that were dropped on the page. */

/** The files of a drop, by their paths below what was dropped. */
export async function droppedFiles(items: DataTransferItemList): Promise<Map<string, File>[]> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return Promise.all(
    entries.map(async (entry) => {
      const files = new Map<string, File>();
      await walk(entry, entry.isDirectory ? entry.fullPath.length + 1 : 1, files);
      return files;
    }),
  );
}

async function walk(entry: FileSystemEntry, skip: number, files: Map<string, File>): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    files.set(entry.fullPath.slice(skip), file);
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return; // a reader gives a hundred at a time
    for (const child of some) await walk(child, skip, files);
  }
}
