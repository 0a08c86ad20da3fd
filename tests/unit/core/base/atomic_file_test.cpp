#include "core/base/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/core/file/csr_file_samples.h"

namespace csrkit {
namespace {

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const ScratchFolder folder;
  const std::string path = folder / "a.txt";
  save_bytes(path, "before");
  {
    AtomicFile file(path);
    file.write("hello", 5);
    file.write_at(1, "u", 1);
    EXPECT_EQ(file.position(), 5u);
    EXPECT_EQ(load_bytes(path), "before");
    EXPECT_EQ(folder.names().size(), 2u);
    for (const std::string& name : folder.names()) {
      EXPECT_TRUE(name == "a.txt" ||
                  (name.find("a.txt.tmp.") == 0 &&
                   name.find("." + std::to_string(::getpid()) + ".") != std::string::npos));
    }
    file.commit();
    EXPECT_EQ(load_bytes(path), "hullo");
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
}

/// The temporary that a process leaves in the folder when it is killed in the middle of writing.
std::string left_by_killed_process(const ScratchFolder& folder, const std::string& name) {
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder / name);
    file.write("half", 4);
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  for (const std::string& left : folder.names()) {
    if (left.find(name.substr(0, 100)) == 0 && left.find(".tmp.") != left.npos) return left;
  }
  ADD_FAILURE() << "nothing was left";
  return "";
}

TEST(AtomicFile, RemovesWhatKilledProcessesLeft) {
  const ScratchFolder folder;
  left_by_killed_process(folder, "a.txt");
  AtomicFile file(folder / "b.txt");
  file.commit();
  EXPECT_EQ(folder.names(), std::vector<std::string>{"b.txt"});
}

TEST(AtomicFile, LeavesAloneWhatMayBeInUse) {
  const ScratchFolder folder;
  const std::string dead = left_by_killed_process(folder, "a.txt");
  std::string of_another_place = dead, of_a_living_process = dead;
  char& digit = of_another_place[std::string("a.txt.tmp.").size()];
  digit = digit == '0' ? '1' : '0';
  const std::size_t random_at = dead.rfind('.'), process_at = dead.rfind('.', random_at - 1) + 1;
  of_a_living_process.replace(process_at, random_at - process_at, std::to_string(::getpid()));
  const std::vector<std::string> kept = {of_another_place, of_a_living_process, dead + "x",
                                         "tmp." + dead.substr(process_at), "a.txt.tmp.1.2"};
  for (const std::string& name : kept) save_bytes(folder / name, "kept");
  AtomicFile(folder / "b.txt").commit();
  for (const std::string& name : kept) EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder / dead));
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
  const ScratchFolder folder;
  {
    AtomicFile file(folder / "a.txt");
    file.write("hello", 5);
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(AtomicFile, LeavesWhatAnotherMadeMeanwhileIfItMustBeNew) {
  const ScratchFolder folder;
  const std::string path = folder / "a.txt";
  never_replace(path);
  {
    AtomicFile file(path);
    file.write("mine", 4);
    save_bytes(path, "another's");
    try {
      file.commit();
      ADD_FAILURE() << "replaced";
    } catch (const IoError& error) {
      EXPECT_NE(std::string(error.what()).find("another process has made it"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(load_bytes(path), "another's");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.txt"});
  std::filesystem::remove(path);
  for (const char* text : {"first", "other"}) {  // what this process made it may replace
    AtomicFile file(path);
    file.write(text, 5);
    file.commit();
    EXPECT_EQ(load_bytes(path), text);
  }
}

TEST(AtomicFile, HasThePermissionsOfAnyNewFile) {
  const ScratchFolder folder;
  const mode_t old_mask = ::umask(027);
  {
    AtomicFile file(folder / "a.txt");
    file.commit();
  }
  ::umask(old_mask);
  struct stat status;
  ASSERT_EQ(::stat((folder / "a.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(AtomicFile, FollowsLinksAndKeepsThem) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder / "there");
  save_bytes(folder / "there/target", "old");
  std::filesystem::create_symlink("there/target", folder / "link");
  std::filesystem::create_symlink("link", folder / "link_to_link");
  std::filesystem::create_symlink("there/absent", folder / "dangling");
  std::filesystem::create_symlink("loop", folder / "loop");
  for (const char* name : {"link_to_link", "dangling"}) {
    AtomicFile file(folder / name);
    file.write("new", 3);
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(folder / name));
  }
  EXPECT_EQ(load_bytes(folder / "there/target"), "new");
  EXPECT_EQ(load_bytes(folder / "there/absent"), "new");
  EXPECT_THROW(AtomicFile(folder / "loop"), IoError);
}

TEST(AtomicFile, RefusesWhatIsOpenAlready) {
  const ScratchFolder folder;
  const int descriptor = ::open((folder / "open").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(descriptor, 0);
  const std::string direct = "/proc/self/fd/" + std::to_string(descriptor);
  std::filesystem::create_symlink(direct, folder / "like_stdout");
  for (const std::string& path :
       {direct, "/dev/fd/" + std::to_string(descriptor), folder / "like_stdout"}) {
    try {
      const AtomicFile file(path);
      ADD_FAILURE() << path;
    } catch (const IoError& error) {
      EXPECT_EQ(std::string(error.what()),
                "cannot write '" + path +
                    "': an output is a file, not standard output or a pipe; name one");
    }
  }
  ::close(descriptor);
  EXPECT_EQ(load_bytes(folder / "open"), "");
}

TEST(AtomicFile, RefusesWhatCannotBeRenamedOver) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const std::string& path :
       {folder / "pipe", folder / "", folder / ".", std::string("/dev/null"), std::string("-"),
        folder / "no/such/folder", folder / std::string(256, 'x')}) {
    EXPECT_THROW(AtomicFile{path}, IoError) << path;
  }
  EXPECT_EQ(folder.names(), std::vector<std::string>{"pipe"});
}

// A name may be as long as the file system allows; its temporary is no longer than that.
TEST(AtomicFile, TakesTheLongestNames) {
  const ScratchFolder folder;
  std::string of_two_bytes_each;
  while (of_two_bytes_each.size() < 254) of_two_bytes_each += "\xc3\xa4";
  for (const std::string& name : {std::string(254, 'x'), std::string(255, 'x'), of_two_bytes_each,
                                  of_two_bytes_each + "x", "x" + of_two_bytes_each}) {
    AtomicFile file(folder / name);
    file.write("whole", 5);
    const std::string temporary = file.temporary_path();
    const std::size_t begin = temporary.rfind('/') + 1, mark = temporary.rfind(".tmp.");
    EXPECT_LE(temporary.size() - begin, 255u);
    EXPECT_EQ(temporary.compare(begin, mark - begin, name, 0, mark - begin), 0);
    EXPECT_NE(static_cast<unsigned char>(name[mark - begin]) & 0xc0u, 0x80u) << "a cut character";
    file.commit();
    EXPECT_EQ(load_bytes(folder / name), "whole");
    std::filesystem::remove(folder / name);
    left_by_killed_process(folder, name);
    AtomicFile(folder / "b").commit();
    EXPECT_EQ(folder.names(), std::vector<std::string>{"b"});
  }
}

TEST(AtomicFile, SurvivesAChangeOfFolder) {
  const ScratchFolder folder;
  const auto old_folder = std::filesystem::current_path();
  std::filesystem::current_path(folder / ".");
  AtomicFile file("relative.txt");
  std::filesystem::current_path(old_folder);
  file.write("x", 1);
  file.commit();
  EXPECT_EQ(load_bytes(folder / "relative.txt"), "x");
}

TEST(AtomicFile, ASignalHandlerRemovesWhatIsPending) {
  const ScratchFolder folder;
  {
    AtomicFile committed(folder / "committed");
    committed.commit();
  }
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, [](int) {
      remove_pending_temporaries();
      ::_exit(143);
    });
    const AtomicFile one(folder / "one"), two(folder / "two");
    ::raise(SIGTERM);
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 143);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"committed"});
}

TEST(AtomicFile, AForkedChildKeepsItsHandsOff) {
  const ScratchFolder folder;
  AtomicFile file(folder / "a");
  const pid_t child = ::fork();
  if (child == 0) {
    remove_pending_temporaries();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  file.commit();
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(AtomicFile, ManyAtOnceAreRefusedNotForgotten) {
  const ScratchFolder folder;
  std::vector<std::unique_ptr<AtomicFile>> files;
  try {
    for (int i = 0; i < 1000; ++i) {
      files.push_back(std::make_unique<AtomicFile>(folder / std::to_string(i)));
    }
    ADD_FAILURE();
  } catch (const IoError&) {
    EXPECT_GE(files.size(), 32u);
  }
  files.clear();
  EXPECT_TRUE(folder.names().empty());
  AtomicFile(folder / "again").commit();
}

}  // namespace
}  // namespace csrkit
